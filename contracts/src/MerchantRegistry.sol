// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Roles} from "./base/Roles.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {Identities} from "./libraries/Identities.sol";
import {Split} from "./libraries/Split.sol";

/// @title Merchants and their products
/// @notice A merchant is an identity of the ERC-8004 registry; the owner of the identity runs the merchant. When the identity
/// changes hands, the merchant closes, its payout wallet and its signers become void, and the new owner has to open it again:
/// nobody buys an identity whose sales are still paid to the seller.
contract MerchantRegistry is Roles {
    using Identities for IIdentityRegistry;

    /// @notice Whether a buyer normally buys the product again (`Repeat`, 0) or once (`OneOff`, 1).
    enum ProductType {
        Repeat,
        OneOff
    }

    /// @dev One storage slot: a sale reads nothing else about a merchant.
    /// @param payout Where the merchant's share of sales goes; zero until an owner has acted
    /// @param ownerTag The low 80 bits of the address of the owner who last acted; finding another address that matches takes
    /// 2^80 tries
    /// @param active Whether that owner opened the merchant
    /// @param suspended Whether the guardian suspended the merchant
    struct Merchant {
        address payout;
        uint80 ownerTag;
        bool active;
        bool suspended;
    }

    /// @notice A product and its terms.
    /// @param commissionBps The share of the price offered for a referred sale, in basis points, at most 10000
    /// @param minPrice The lowest price of a sale, in USDC base units. Every payment is a proof of purchase, so a price near
    /// zero makes reviews nearly free
    /// @param productType Repeat or one-off purchase; fixed when the product is listed
    /// @param listed Whether the product was ever listed; all other fields are zero if not
    /// @param active Whether the product is open for sale
    struct Product {
        uint16 commissionBps;
        uint64 minPrice;
        ProductType productType;
        bool listed;
        bool active;
    }

    /// @notice The registry whose identities merchants are.
    IIdentityRegistry public immutable IDENTITIES;

    mapping(uint256 merchantId => Merchant) private _merchants;
    mapping(uint256 merchantId => mapping(bytes32 productId => Product)) private _products;
    /// @dev Also keyed by the owner who granted the role, so that it is void once the identity has another owner.
    mapping(uint256 merchantId => mapping(address owner => mapping(bytes32 role => mapping(address account => bool))))
        private _merchantRoles;

    /// @notice The owner opened or closed the merchant, or a new owner took it over, closed.
    /// @dev The merchant is open while the last of these events says so, its `owner` still owns the identity, and it is not
    /// suspended.
    /// @param merchantId Id of the merchant
    /// @param owner The owner of the identity who made the change
    /// @param active Whether the merchant is open from now on
    /// @param payout Where the merchant's share of sales goes from now on
    event MerchantActiveSet(uint256 indexed merchantId, address indexed owner, bool active, address payout);
    /// @notice The owner chose another payout wallet.
    /// @param merchantId Id of the merchant
    /// @param payout Where the merchant's share of sales goes from now on, never zero
    event PayoutWalletSet(uint256 indexed merchantId, address indexed payout);
    /// @notice The guardian suspended the merchant or lifted the suspension.
    /// @param merchantId Id of the merchant
    /// @param suspended Whether the merchant is suspended from now on
    event MerchantSuspensionSet(uint256 indexed merchantId, bool suspended);
    /// @notice The owner listed a product; it is open for sale.
    /// @param merchantId Id of the merchant
    /// @param productId The product's id within the merchant
    /// @param commissionBps Commission in basis points of the price
    /// @param minPrice The lowest price of a sale, in USDC base units
    /// @param productType Repeat or one-off purchase; never changes
    /// @param cardURI Where the description of the product is
    event ProductListed(
        uint256 indexed merchantId,
        bytes32 indexed productId,
        uint16 commissionBps,
        uint64 minPrice,
        ProductType productType,
        string cardURI
    );
    /// @notice The owner closed a product or opened it again.
    /// @param merchantId Id of the merchant
    /// @param productId The product's id within the merchant
    /// @param active Whether the product is open for sale from now on
    event ProductActiveSet(uint256 indexed merchantId, bytes32 indexed productId, bool active);
    /// @notice The owner changed the terms of a product for sales from now on.
    /// @param merchantId Id of the merchant
    /// @param productId The product's id within the merchant
    /// @param commissionBps The new commission in basis points of the price
    /// @param minPrice The new lowest price of a sale, in USDC base units
    event ProductTermsSet(
        uint256 indexed merchantId, bytes32 indexed productId, uint16 commissionBps, uint64 minPrice
    );
    /// @notice The description of a product moved.
    /// @param merchantId Id of the merchant
    /// @param productId The product's id within the merchant
    /// @param cardURI Where the description of the product is from now on
    event ProductCardSet(uint256 indexed merchantId, bytes32 indexed productId, string cardURI);
    /// @notice The owner granted an account a role for this merchant, or revoked it.
    /// @param merchantId Id of the merchant
    /// @param role keccak256 of the role's name, such as `SETTLEMENT_SIGNER_ROLE`
    /// @param account Who has or loses the role
    /// @param owner The owner of the identity who made the change; the role is void once the identity has another owner
    /// @param granted True when granted, false when revoked
    event MerchantRoleSet(
        uint256 indexed merchantId, bytes32 indexed role, address indexed account, address owner, bool granted
    );

    /// @notice The caller does not own the merchant's identity.
    /// @dev Send the transaction from the account that `IDENTITIES.ownerOf(merchantId)` returns.
    /// @param caller Who called
    /// @param merchantId Id of the merchant, possibly of an identity that does not exist
    error NotMerchantOwner(address caller, uint256 merchantId);
    /// @notice The merchant is closed or suspended, or its identity changed hands since it was opened.
    /// @dev Do not sell or settle. The present owner opens it with `setActive`; a suspension is lifted by the guardian only.
    /// @param merchantId Id of the merchant
    error MerchantNotActive(uint256 merchantId);
    /// @notice The product is closed or was never listed.
    /// @dev Do not sell or settle. The owner opens a listed product with `setProductActive`.
    /// @param merchantId Id of the merchant
    /// @param productId The product's id within the merchant
    error ProductNotActive(uint256 merchantId, bytes32 productId);
    /// @notice A change was requested for a product that was never listed.
    /// @dev Check the product id, or list the product with `listProduct` first.
    /// @param merchantId Id of the merchant
    /// @param productId The product's id within the merchant
    error ProductNotListed(uint256 merchantId, bytes32 productId);
    /// @notice `listProduct` was called for a product that is listed already.
    /// @dev Change it with `setProductTerms`, `setProductCard` or `setProductActive`, or list under another id; the type cannot
    /// change.
    /// @param merchantId Id of the merchant
    /// @param productId The product's id within the merchant
    error ProductAlreadyListed(uint256 merchantId, bytes32 productId);
    /// @notice The commission rate exceeds the whole price.
    /// @dev Choose a rate of at most `maximum`.
    /// @param commissionBps The refused rate, in basis points
    /// @param maximum The highest rate, in basis points: 10000
    error CommissionTooHigh(uint256 commissionBps, uint256 maximum);
    /// @notice `setPayoutWallet` was called with the zero address.
    /// @dev Pass a wallet that can receive USDC. To stop sales, call `setActive(merchantId, false)`.
    /// @param merchantId Id of the merchant
    error ZeroPayoutWallet(uint256 merchantId);

    /// @dev The first call of a new owner, whichever it is, voids the settings of the former owner.
    modifier onlyMerchantOwner(uint256 merchantId) {
        if (IDENTITIES.findOwner(merchantId) != msg.sender) revert NotMerchantOwner(msg.sender, merchantId);
        _adopt(merchantId);
        _;
    }

    modifier onlyListed(uint256 merchantId, bytes32 productId) {
        if (!_products[merchantId][productId].listed) revert ProductNotListed(merchantId, productId);
        _;
    }

    /// @param admin The first admin of the roles, not zero
    /// @param adminDelay Seconds between the two steps of an admin transfer
    /// @param identities The ERC-8004 registry whose identities merchants are
    constructor(address admin, uint48 adminDelay, IIdentityRegistry identities) Roles(admin, adminDelay) {
        IDENTITIES = identities;
    }

    // ---- merchants

    /// @notice Opens or closes the merchant. Sales are paid to the owner's wallet unless the owner chose another. Only the
    /// owner may call it.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param active True to open, false to close
    function setActive(uint256 merchantId, bool active) external onlyMerchantOwner(merchantId) {
        _merchants[merchantId].active = active;
        emit MerchantActiveSet(merchantId, msg.sender, active, _merchants[merchantId].payout);
    }

    /// @notice Chooses where the merchant's share of sales goes. Only the owner may call it.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param payout The wallet to be paid, not zero
    function setPayoutWallet(uint256 merchantId, address payout) external onlyMerchantOwner(merchantId) {
        if (payout == address(0)) revert ZeroPayoutWallet(merchantId);
        _merchants[merchantId].payout = payout;
        emit PayoutWalletSet(merchantId, payout);
    }

    /// @notice Suspends a merchant on the protocol's behalf, or lifts the suspension. The owner's own flag is untouched, and a
    /// change of hands does not lift it. Only the guardian may call it.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param suspended True to suspend, false to lift
    function setSuspended(uint256 merchantId, bool suspended) external onlyRole(GUARDIAN_ROLE) {
        _merchants[merchantId].suspended = suspended;
        emit MerchantSuspensionSet(merchantId, suspended);
    }

    /// @notice Whether the merchant may sell: opened by its present owner and not suspended.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @return True when it may sell
    function isActive(uint256 merchantId) public view returns (bool) {
        Merchant memory merchant = _merchants[merchantId];
        return merchant.active && !merchant.suspended
            && merchant.ownerTag == _tag(IDENTITIES.findOwner(merchantId));
    }

    /// @notice Whether the guardian has suspended the merchant.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @return True while suspended
    function isSuspended(uint256 merchantId) external view returns (bool) {
        return _merchants[merchantId].suspended;
    }

    /// @notice Where the merchant's share of sales goes.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @return The wallet; zero while the present owner of the identity has not acted here
    function payoutWallet(uint256 merchantId) external view returns (address) {
        Merchant memory merchant = _merchants[merchantId];
        return merchant.ownerTag == _tag(IDENTITIES.findOwner(merchantId)) ? merchant.payout : address(0);
    }

    // ---- products

    /// @notice Lists a product, open for sale. Its type is fixed for good. Only the owner may call it.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param productId Any 32 bytes, unique within the merchant
    /// @param commissionBps The share of the price offered for a referred sale, in basis points, 0 to 10000; zero pays no
    /// commission
    /// @param minPrice The lowest price of a sale, in USDC base units; zero sets no bound
    /// @param productType Repeat (0) or one-off (1) purchase
    /// @param cardURI Where the description of the product is; kept in the event only
    function listProduct(
        uint256 merchantId,
        bytes32 productId,
        uint16 commissionBps,
        uint64 minPrice,
        ProductType productType,
        string calldata cardURI
    ) external onlyMerchantOwner(merchantId) {
        if (_products[merchantId][productId].listed) revert ProductAlreadyListed(merchantId, productId);
        _checkCommission(commissionBps);
        _products[merchantId][productId] = Product(commissionBps, minPrice, productType, true, true);
        emit ProductListed(merchantId, productId, commissionBps, minPrice, productType, cardURI);
    }

    /// @notice Closes a product, or opens it again. Only the owner may call it.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param productId The product's id within the merchant, any 32 bytes
    /// @param active True to open, false to close
    function setProductActive(uint256 merchantId, bytes32 productId, bool active)
        external
        onlyMerchantOwner(merchantId)
        onlyListed(merchantId, productId)
    {
        _products[merchantId][productId].active = active;
        emit ProductActiveSet(merchantId, productId, active);
    }

    /// @notice Changes the commission and the lowest price of sales from now on. Only the owner may call it.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param productId The product's id within the merchant, any 32 bytes
    /// @param commissionBps The share of the price offered for a referred sale, in basis points, 0 to 10000; zero pays no
    /// commission
    /// @param minPrice The lowest price of a sale, in USDC base units; zero sets no bound
    function setProductTerms(uint256 merchantId, bytes32 productId, uint16 commissionBps, uint64 minPrice)
        external
        onlyMerchantOwner(merchantId)
        onlyListed(merchantId, productId)
    {
        _checkCommission(commissionBps);
        Product storage product = _products[merchantId][productId];
        product.commissionBps = commissionBps;
        product.minPrice = minPrice;
        emit ProductTermsSet(merchantId, productId, commissionBps, minPrice);
    }

    /// @notice Publishes a new address of the product's description. Only the owner may call it.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param productId The product's id within the merchant, any 32 bytes
    /// @param cardURI Where the description of the product is; kept in the event only
    function setProductCard(uint256 merchantId, bytes32 productId, string calldata cardURI)
        external
        onlyMerchantOwner(merchantId)
        onlyListed(merchantId, productId)
    {
        emit ProductCardSet(merchantId, productId, cardURI);
    }

    /// @notice A product as listed.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param productId The product's id within the merchant, any 32 bytes
    /// @return The product; every field is zero when it was never listed
    function getProduct(uint256 merchantId, bytes32 productId) external view returns (Product memory) {
        return _products[merchantId][productId];
    }

    /// @notice What a sale needs to know. Reverts when the merchant or the product is not open for sale.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param productId The product's id within the merchant, any 32 bytes
    /// @return payout Where the merchant's share goes, never zero
    /// @return commissionBps The product's commission rate in basis points of the price
    /// @return minPrice The lowest price of a sale, in USDC base units
    function termsOfSale(uint256 merchantId, bytes32 productId)
        external
        view
        returns (address payout, uint256 commissionBps, uint256 minPrice)
    {
        if (!isActive(merchantId)) revert MerchantNotActive(merchantId);
        Product memory product = _products[merchantId][productId];
        if (!product.active) revert ProductNotActive(merchantId, productId);
        return (_merchants[merchantId].payout, product.commissionBps, product.minPrice);
    }

    // ---- roles within a merchant

    /// @notice Gives an account a role for this merchant. Only the owner may call it.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param role keccak256 of the role's name, such as `keccak256("SETTLEMENT_SIGNER_ROLE")`
    /// @param account Who gets the role
    function grantRole(uint256 merchantId, bytes32 role, address account) external onlyMerchantOwner(merchantId) {
        _setMerchantRole(merchantId, role, account, true);
    }

    /// @notice Takes a role for this merchant from an account. Only the owner may call it.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param role keccak256 of the role's name
    /// @param account Who loses the role
    function revokeRole(uint256 merchantId, bytes32 role, address account) external onlyMerchantOwner(merchantId) {
        _setMerchantRole(merchantId, role, account, false);
    }

    /// @notice Whether the merchant's present owner gave the account this role.
    /// @param merchantId Id of the merchant, an ERC-8004 identity id; 0 is a valid id
    /// @param role keccak256 of the role's name
    /// @param account The account in question
    /// @return True while it has the role
    function hasRole(uint256 merchantId, bytes32 role, address account) external view returns (bool) {
        return _merchantRoles[merchantId][IDENTITIES.findOwner(merchantId)][role][account];
    }

    // ---- internal

    /// @dev Records the caller as the owner who runs the merchant. If another owner ran it before, that owner's settings become
    /// void.
    function _adopt(uint256 merchantId) private {
        Merchant storage merchant = _merchants[merchantId];
        uint80 tag = _tag(msg.sender);
        if (merchant.ownerTag != tag || merchant.payout == address(0)) {
            merchant.ownerTag = tag;
            merchant.payout = msg.sender;
            merchant.active = false;
            emit MerchantActiveSet(merchantId, msg.sender, false, msg.sender);
        }
    }

    function _setMerchantRole(uint256 merchantId, bytes32 role, address account, bool granted) private {
        _merchantRoles[merchantId][msg.sender][role][account] = granted;
        emit MerchantRoleSet(merchantId, role, account, msg.sender, granted);
    }

    function _checkCommission(uint256 commissionBps) private pure {
        if (commissionBps > Split.BPS) revert CommissionTooHigh(commissionBps, Split.BPS);
    }

    function _tag(address owner) private pure returns (uint80) {
        return uint80(uint160(owner));
    }
}
