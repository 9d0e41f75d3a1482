// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Roles} from "./base/Roles.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {Identities} from "./libraries/Identities.sol";
import {Split} from "./libraries/Split.sol";

/// @title Merchants and their products
/// @notice A merchant is an identity of the ERC-8004 registry; whoever owns the identity runs the merchant. When the identity changes
/// hands, the merchant closes, its payout wallet and its signers are void, and the new owner opens it again: nobody buys an identity
/// whose sales still go to the seller.
contract MerchantRegistry is Roles {
    using Identities for IIdentityRegistry;

    enum ProductType {
        Repeat,
        OneOff
    }

    /// @dev One slot: a sale reads nothing else of a merchant. `ownerTag` is the low half of the owner's address at the time the
    /// merchant was last opened; matching another owner's takes 2^80 tries.
    struct Merchant {
        address payout;
        uint80 ownerTag;
        bool active;
        bool suspended;
    }

    /// @param minPrice A sale below it is refused. Whoever pays gets a proof of purchase, so it must not be had for next to nothing
    struct Product {
        uint16 commissionBps;
        uint64 minPrice;
        ProductType productType;
        bool listed;
        bool active;
    }

    /// @notice Whose ids merchants have.
    IIdentityRegistry public immutable IDENTITIES;

    mapping(uint256 merchantId => Merchant) private _merchants;
    mapping(uint256 merchantId => mapping(bytes32 productId => Product)) private _products;
    /// @dev Keyed by the owner who granted it too, so that a change of hands voids it.
    mapping(uint256 merchantId => mapping(address owner => mapping(bytes32 role => mapping(address account => bool))))
        private _merchantRoles;

    /// @notice The owner opened or closed the merchant, or took it over closed; from here on it is paid at `payout`.
    /// @dev The merchant is open while the last of these says so, its `owner` still owns the identity, and it is not suspended.
    event MerchantActiveSet(uint256 indexed merchantId, address indexed owner, bool active, address payout);
    event PayoutWalletSet(uint256 indexed merchantId, address indexed payout);
    event MerchantSuspensionSet(uint256 indexed merchantId, bool suspended);
    event ProductListed(
        uint256 indexed merchantId,
        bytes32 indexed productId,
        uint16 commissionBps,
        uint64 minPrice,
        ProductType productType,
        string cardURI
    );
    event ProductActiveSet(uint256 indexed merchantId, bytes32 indexed productId, bool active);
    event ProductTermsSet(
        uint256 indexed merchantId, bytes32 indexed productId, uint16 commissionBps, uint64 minPrice
    );
    event ProductCardSet(uint256 indexed merchantId, bytes32 indexed productId, string cardURI);
    event MerchantRoleSet(
        uint256 indexed merchantId, bytes32 indexed role, address indexed account, address owner, bool granted
    );

    error NotMerchantOwner(address caller, uint256 merchantId);
    error MerchantNotActive(uint256 merchantId);
    error ProductNotActive(uint256 merchantId, bytes32 productId);
    error ProductNotListed(uint256 merchantId, bytes32 productId);
    error ProductAlreadyListed(uint256 merchantId, bytes32 productId);
    error CommissionTooHigh(uint256 commissionBps, uint256 maximum);
    error ZeroPayoutWallet(uint256 merchantId);

    /// @dev The first act of a new owner, whatever it is, ends the settings of the one before.
    modifier onlyMerchantOwner(uint256 merchantId) {
        if (IDENTITIES.findOwner(merchantId) != msg.sender) revert NotMerchantOwner(msg.sender, merchantId);
        _adopt(merchantId);
        _;
    }

    modifier onlyListed(uint256 merchantId, bytes32 productId) {
        if (!_products[merchantId][productId].listed) revert ProductNotListed(merchantId, productId);
        _;
    }

    constructor(address admin, uint48 adminDelay, IIdentityRegistry identities) Roles(admin, adminDelay) {
        IDENTITIES = identities;
    }

    // ---- merchants

    /// @notice Opens or closes the merchant. It is paid at its owner's wallet unless the owner chose another.
    function setActive(uint256 merchantId, bool active) external onlyMerchantOwner(merchantId) {
        _merchants[merchantId].active = active;
        emit MerchantActiveSet(merchantId, msg.sender, active, _merchants[merchantId].payout);
    }

    /// @notice Chooses where the merchant's share of sales goes.
    function setPayoutWallet(uint256 merchantId, address payout) external onlyMerchantOwner(merchantId) {
        if (payout == address(0)) revert ZeroPayoutWallet(merchantId);
        _merchants[merchantId].payout = payout;
        emit PayoutWalletSet(merchantId, payout);
    }

    /// @notice Closes a merchant on the protocol's behalf, or lifts that; the owner's own flag is untouched. Outlives a change of hands.
    function setSuspended(uint256 merchantId, bool suspended) external onlyRole(GUARDIAN_ROLE) {
        _merchants[merchantId].suspended = suspended;
        emit MerchantSuspensionSet(merchantId, suspended);
    }

    /// @notice Whether the merchant may sell: opened by its present owner and not suspended.
    function isActive(uint256 merchantId) public view returns (bool) {
        Merchant memory merchant = _merchants[merchantId];
        return merchant.active && !merchant.suspended
            && merchant.ownerTag == _tag(IDENTITIES.findOwner(merchantId));
    }

    /// @notice Whether the protocol has suspended the merchant.
    function isSuspended(uint256 merchantId) external view returns (bool) {
        return _merchants[merchantId].suspended;
    }

    /// @notice Where the merchant's share goes; zero while its present owner has not opened it.
    function payoutWallet(uint256 merchantId) external view returns (address) {
        Merchant memory merchant = _merchants[merchantId];
        return merchant.ownerTag == _tag(IDENTITIES.findOwner(merchantId)) ? merchant.payout : address(0);
    }

    // ---- products

    /// @notice Lists a product, open for sale. Its type is fixed for good.
    /// @param productId Any 32 bytes, unique within the merchant
    /// @param commissionBps The share of the price that the merchant offers for a referred sale, at most 10000
    /// @param minPrice The least that the product is ever sold for
    /// @param cardURI Where the product describes itself
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

    /// @notice Closes a product, or opens it again.
    function setProductActive(uint256 merchantId, bytes32 productId, bool active)
        external
        onlyMerchantOwner(merchantId)
        onlyListed(merchantId, productId)
    {
        _products[merchantId][productId].active = active;
        emit ProductActiveSet(merchantId, productId, active);
    }

    /// @notice Changes the commission and the least price of sales from now on.
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

    /// @notice Moves the product's description.
    function setProductCard(uint256 merchantId, bytes32 productId, string calldata cardURI)
        external
        onlyMerchantOwner(merchantId)
        onlyListed(merchantId, productId)
    {
        emit ProductCardSet(merchantId, productId, cardURI);
    }

    /// @notice A product as listed; all zero when it is not.
    function getProduct(uint256 merchantId, bytes32 productId) external view returns (Product memory) {
        return _products[merchantId][productId];
    }

    /// @notice What a sale needs to know. Reverts when the merchant or the product is not open for sale.
    /// @return payout Where the merchant's share goes
    /// @return commissionBps The product's commission rate
    /// @return minPrice The least that the product is sold for
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

    /// @notice Gives an account a role for this merchant, such as `keccak256("SETTLEMENT_SIGNER_ROLE")`.
    function grantRole(uint256 merchantId, bytes32 role, address account) external onlyMerchantOwner(merchantId) {
        _setMerchantRole(merchantId, role, account, true);
    }

    /// @notice Takes a merchant's role from an account.
    function revokeRole(uint256 merchantId, bytes32 role, address account) external onlyMerchantOwner(merchantId) {
        _setMerchantRole(merchantId, role, account, false);
    }

    /// @notice Whether the merchant's present owner gave the account this role.
    function hasRole(uint256 merchantId, bytes32 role, address account) external view returns (bool) {
        return _merchantRoles[merchantId][IDENTITIES.findOwner(merchantId)][role][account];
    }

    // ---- inside

    /// @dev Marks the merchant as run by the caller. If it was run by another owner, that owner's settings end here.
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
